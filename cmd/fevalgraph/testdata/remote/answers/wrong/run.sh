echo no score; exit 3
