#include <mcpac.hpp>
const int n0 = 1;
const int n1 = (n0 + n0) / 2;
const int n2 = (n1 + n1) / 2;
const int n3 = (n2 + n2) / 2;
const int n4 = (n3 + n3) / 2;
const int n5 = (n4 + n4) / 2;
const int n6 = (n5 + n5) / 2;
const int n7 = (n6 + n6) / 2;
const int n8 = (n7 + n7) / 2;
const int n9 = (n8 + n8) / 2;
const int n10 = (n9 + n9) / 2;
const int n11 = (n10 + n10) / 2;
const int n12 = (n11 + n11) / 2;
const int n13 = (n12 + n12) / 2;
const int n14 = (n13 + n13) / 2;
const int n15 = (n14 + n14) / 2;
const int n16 = (n15 + n15) / 2;
const int n17 = (n16 + n16) / 2;
const int n18 = (n17 + n17) / 2;
const int n19 = (n18 + n18) / 2;
const int n20 = (n19 + n19) / 2;
const int n21 = (n20 + n20) / 2;
const int n22 = (n21 + n21) / 2;
const int n23 = (n22 + n22) / 2;
const int n24 = (n23 + n23) / 2;
const int n25 = (n24 + n24) / 2;
const int n26 = (n25 + n25) / 2;
const int n27 = (n26 + n26) / 2;
const int n28 = (n27 + n27) / 2;
const int n29 = (n28 + n28) / 2;
const int n30 = (n29 + n29) / 2;
const int n31 = (n30 + n30) / 2;
const int n32 = (n31 + n31) / 2;
const int n33 = (n32 + n32) / 2;
const int n34 = (n33 + n33) / 2;
const int n35 = (n34 + n34) / 2;
const int n36 = (n35 + n35) / 2;
const int n37 = (n36 + n36) / 2;
const int n38 = (n37 + n37) / 2;
const int n39 = (n38 + n38) / 2;
const int n40 = (n39 + n39) / 2;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a", .head = n40});  // use: filesystem.read_text_file {"path": "a", "head": 1}
  return 0;
}
