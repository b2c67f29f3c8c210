import { toRateLimitKey } from '../../src/server/http/rate-limits.js';

test.each([
  ['an IPv4 address', '192.0.2.7', '192.0.2.7'],
  ['a whole IPv6 address', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['a different address of the same subscriber', '2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['an address of the next subscriber', '2001:db8:1:3::9', '2001:db8:1:3::/64'],
  ['an address that begins with zeros', '::1', '0:0:0:0::/64'],
  ['an address that ends with zeros', '2001:db8::', '2001:db8:0:0::/64'],
  ['an address with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['an address that ends with an IPv4 address', '64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
  ['an empty address', '', 'unknown'],
  ['invalid text from a proxy', 'x'.repeat(10_000), 'unknown'],
])('toRateLimitKey: %s is counted by its network', (_reason, address, network) => {
  expect(toRateLimitKey(address)).toBe(network);
});
