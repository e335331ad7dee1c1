read -r answer <../answer.txt
echo "$answer" >>"$LOG"
sleep "$NAP"
echo "${answer##* }"
