"""What tests share: real servers, and the corpus of cases with their recorded answers."""
