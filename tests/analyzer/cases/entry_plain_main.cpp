int main() { return 0; }  // expect: note no-capability
