import { networkOf } from '../../src/server/network.js';

test.each([
  ['an IPv4 address', '192.0.2.7', '192.0.2.7'],
  ['a whole IPv6 address', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['another of the same subscriber', '2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['one of the next subscriber', '2001:db8:1:3::9', '2001:db8:1:3::/64'],
  ['one that begins with zeros', '::1', '0:0:0:0::/64'],
  ['one that ends with zeros', '2001:db8::', '2001:db8:0:0::/64'],
  ['one with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['one that ends like IPv4', '64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
  ['nothing', '', 'unknown'],
  ['what a proxy made up', 'x'.repeat(10_000), 'unknown'],
])('%s is counted by its network', (_reason, address, network) => {
  expect(networkOf(address)).toBe(network);
});
