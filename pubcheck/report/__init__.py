"""How findings are shown: `document` resolves them to lines and columns, one pure renderer a format writes them."""
