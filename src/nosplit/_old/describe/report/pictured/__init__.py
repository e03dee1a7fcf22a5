"""Pictures and sizes in reports of goodness of fit and of independence."""
