import type { LookupAddress } from 'node:dns';
import { createAddressPolicy } from '../../../../src/dashboard/forges/http/fetch-response.js';

/** The addresses of the host names in the tests. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'forge.example': ['93.184.215.14'],
  'dual.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'nat64.example': ['64:ff9b::5db8:d70e'],
  localhost: ['127.0.0.1', '::1'],
  'loopback.example': ['127.0.0.1'],
  'internal.example': ['10.1.2.3'],
  'mixed.example': ['93.184.215.14', '192.168.1.1'],
  'mixed6.example': ['2606:4700::1111', '::1'],
  'mapped.example': ['::ffff:10.1.2.3'],
  'metadata.example': ['169.254.169.254'],
  'zone.example': ['fe80::1%eth0'],
  'git.example': ['10.9.9.9'],
};

const asked: string[] = [];
const resolveHost = async (hostname: string): Promise<readonly LookupAddress[]> => {
  asked.push(hostname);
  const found = NAMES[hostname];
  if (found === undefined) throw Object.assign(new Error('No such name.'), { code: 'ENOTFOUND' });
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

type Outcome = 'allowed' | 'refused' | 'unresolved';

async function decide(url: string, allow: readonly string[] = []): Promise<Outcome> {
  try {
    await createAddressPolicy({ allow, resolveHost }).resolve(new URL(url));
    return 'allowed';
  } catch (error) {
    return (error as Error).name === 'AddressRefusedError' ? 'refused' : 'unresolved';
  }
}

test.each<[string, string, Outcome]>([
  ['IPv4', 'http://93.184.215.14', 'allowed'],
  ['IPv6', 'http://[2606:4700::1111]', 'allowed'],
  ['a host name with a public address', 'https://forge.example', 'allowed'],
  ['a host name with public addresses of both families', 'https://dual.example', 'allowed'],
  ['a public address behind NAT64', 'https://nat64.example', 'allowed'],
  ['6to4 of a public address', 'http://[2002:5db8:d70e::1]', 'allowed'],
  ['a host name that does not exist', 'https://nowhere.example', 'unresolved'],

  ['loopback', 'http://127.0.0.1:8080', 'refused'],
  ['loopback, its last address', 'http://127.255.255.254', 'refused'],
  ['loopback as a decimal number', 'http://2130706433', 'refused'],
  ['loopback as an octal number', 'http://017700000001', 'refused'],
  ['loopback as a hexadecimal number', 'http://0x7f000001', 'refused'],
  ['loopback in octal parts', 'http://0177.0.0.01', 'refused'],
  ['loopback in hexadecimal parts', 'http://0x7f.0x0.0x0.0x1', 'refused'],
  ['loopback in two parts', 'http://127.1', 'refused'],
  ['loopback in three parts', 'http://127.0.1', 'refused'],
  ['loopback with a trailing dot', 'http://127.0.0.1.', 'refused'],
  ['loopback in full-width digits', 'http://１２７.０.０.１', 'refused'],
  ['loopback in escaped digits', 'http://%31%32%37.0.0.1', 'refused'],
  ['loopback of IPv6', 'http://[::1]', 'refused'],
  ['loopback of IPv6, written out', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]', 'refused'],
  ['loopback, mapped', 'http://[::ffff:127.0.0.1]', 'refused'],
  ['loopback, mapped, in hexadecimal', 'http://[::ffff:7f00:1]', 'refused'],
  ['loopback, IPv4-compatible', 'http://[::127.0.0.1]', 'refused'],
  ['loopback, translated', 'http://[::ffff:0:7f00:1]', 'refused'],
  ['loopback behind NAT64', 'http://[64:ff9b::7f00:1]', 'refused'],
  ['local-use NAT64', 'http://[64:ff9b:1::7f00:1]', 'refused'],
  ['6to4 of loopback', 'http://[2002:7f00:1::]', 'refused'],
  ['Teredo', 'http://[2001:0:7f00:1::]', 'refused'],
  ['localhost', 'http://localhost', 'refused'],
  ['localhost with a trailing dot', 'http://localhost.', 'refused'],
  ['localhost in capitals', 'http://LOCALHOST', 'refused'],
  ['a host name with a loopback address', 'https://loopback.example', 'refused'],
  ['a host name with a private address', 'https://internal.example', 'refused'],
  ['a host name with a public and a private address', 'https://mixed.example', 'refused'],
  ['a host name with a public address and IPv6 loopback', 'https://mixed6.example', 'refused'],
  ['a host name with a mapped private address', 'https://mapped.example', 'refused'],
  ['a host name with a metadata address', 'http://metadata.example', 'refused'],
  ['a host name with a link-local address and a zone', 'http://zone.example', 'refused'],
  ['private, 10/8', 'http://10.0.0.1', 'refused'],
  ['private, 172.16/12', 'http://172.31.255.255', 'refused'],
  ['private, 192.168/16', 'http://192.168.0.1', 'refused'],
  ['carrier-grade NAT, with a metadata service', 'http://100.100.100.200', 'refused'],
  ['link-local, with a metadata service', 'http://169.254.169.254', 'refused'],
  ['the metadata service of Azure', 'http://168.63.129.16', 'refused'],
  ['the metadata service of Oracle', 'http://192.0.0.192', 'refused'],
  ['unspecified', 'http://0.0.0.0', 'refused'],
  ['unspecified, as a number', 'http://0', 'refused'],
  ['unspecified of IPv6', 'http://[::]', 'refused'],
  ['benchmarking', 'http://198.18.0.1', 'refused'],
  ['documentation', 'http://192.0.2.1', 'refused'],
  ['multicast', 'http://224.0.0.1', 'refused'],
  ['reserved', 'http://240.0.0.1', 'refused'],
  ['broadcast', 'http://255.255.255.255', 'refused'],
  ['unique-local', 'http://[fd00::1]', 'refused'],
  ['the metadata service of AWS by IPv6', 'http://[fd00:ec2::254]', 'refused'],
  ['link-local of IPv6', 'http://[fe80::1]', 'refused'],
  ['site-local of IPv6', 'http://[fec0::1]', 'refused'],
  ['multicast of IPv6', 'http://[ff02::1]', 'refused'],
  ['documentation of IPv6', 'http://[2001:db8::1]', 'refused'],
])('address policy, %s: %s is %s', async (_form, url, outcome) => {
  expect(await decide(url)).toBe(outcome);
});

test('address policy: URLs cannot contain an IPv6 zone', () => {
  expect(URL.canParse('http://[fe80::1%25eth0]')).toBe(false);
});

test('address policy: does not resolve IP addresses', async () => {
  asked.length = 0;
  for (const url of ['http://127.0.0.1', 'http://[::1]', 'http://2130706433']) await decide(url);
  expect(asked).toEqual([]);
});

test.each<[string, string, string, Outcome]>([
  ['a range', '10.0.0.0/8', 'http://10.200.0.1', 'allowed'],
  ['a range, mapped', '10.0.0.0/8', 'http://[::ffff:10.200.0.1]', 'allowed'],
  ['a range, behind NAT64', '10.0.0.0/8', 'http://[64:ff9b::a01:203]', 'allowed'],
  ['a range, host name', '10.0.0.0/8', 'http://internal.example', 'allowed'],
  ['a range, outside it', '10.0.0.0/8', 'http://192.168.0.1', 'refused'],
  ['an IPv6 range', 'fd00::/8', 'http://[fd12::1]', 'allowed'],
  ['an address', '127.0.0.1', 'http://127.0.0.1:3000', 'allowed'],
  ['an address, the next one', '127.0.0.1', 'http://127.0.0.2:3000', 'refused'],
  ['an IPv6 address', '::1', 'http://[::1]:3000', 'allowed'],
  ['an address with a port', '127.0.0.1:3000', 'http://127.0.0.1:3000', 'allowed'],
  ['an address with a different port', '127.0.0.1:3000', 'http://127.0.0.1:6379', 'refused'],
  ['an IPv6 address with a port', '[::1]:3000', 'http://[::1]:3000', 'allowed'],
  ['a host name', 'git.example', 'https://git.example:3000', 'allowed'],
  ['a host name in capitals', 'GIT.example', 'https://git.example', 'allowed'],
  ['a host name, trailing dot', 'git.example', 'https://git.example.', 'allowed'],
  ['a host name with the default port', 'git.example:443', 'https://git.example', 'allowed'],
  ['a host name with a different port', 'git.example:443', 'http://git.example', 'refused'],
  ['a host name, different host', 'git.example', 'https://internal.example', 'refused'],
  ['one of two addresses', '192.168.1.1', 'https://mixed.example', 'allowed'],
])('address policy with a rule for %s: with %s, %s is %s', async (_form, rule, url, outcome) => {
  expect(await decide(url, [rule])).toBe(outcome);
});
