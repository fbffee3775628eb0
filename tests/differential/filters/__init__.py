"""Random row filters, judged by pubcheck and by a server of each major: where the answers differ, and how often."""
