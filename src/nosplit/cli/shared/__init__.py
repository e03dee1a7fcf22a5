"""What commands share: options, words, printing, and how the program ends."""
