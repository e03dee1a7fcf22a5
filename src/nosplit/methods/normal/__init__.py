"""Normal vectors: whitening, the polyhedral lemma, null laws and their tails."""
