read -r answer <../answer.txt
echo "$answer" >>"$LOG"
echo 1
