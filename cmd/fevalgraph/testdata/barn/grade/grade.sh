# Prints what the answer says that it earns.
sleep "$NAP"
cat answer.txt
