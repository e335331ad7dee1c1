echo 50
kill -SEGV $$
