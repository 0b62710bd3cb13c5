template <class... P>
struct Requires {};
struct read_text_file {};
int agent_main(Requires<read_text_file>) {  // expect: refuses forged-type
  return 0;
}
