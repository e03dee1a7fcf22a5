"""Results of studies: tables, figures, the paper's claims, and the page with all of them."""
