"""Row filters evaluated for rows, held to answers that servers gave."""
