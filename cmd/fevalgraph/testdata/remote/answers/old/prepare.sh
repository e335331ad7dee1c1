sleep 0.1; echo 1 >built
