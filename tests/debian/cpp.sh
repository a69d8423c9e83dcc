# Built here before, with the libraries of this computer.
"${0%/*}/cpp"
