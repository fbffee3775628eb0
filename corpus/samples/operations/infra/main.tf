resource "terraform_data" "publication" {
  provisioner "local-exec" {
    command = <<-EOT
      psql "${var.url}" -c "CREATE PUBLICATION ${var.name} FOR TABLE orders WHERE (random() < 0.5)"
    EOT
  }
}
