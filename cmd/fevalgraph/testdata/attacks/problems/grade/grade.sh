python3 -B grade.py
code=$?
echo graded
exit $code
