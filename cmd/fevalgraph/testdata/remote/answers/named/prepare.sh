echo 41 >"$(printf 'no\377text')"
echo x >'new
line'
