echo 100
