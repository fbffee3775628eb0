"""pubcheck against the recorded answers of real servers, over the whole corpus."""
