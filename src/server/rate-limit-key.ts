import { isIP } from 'node:net';

/**
 * Returns the key by which requests of an address are counted: an IPv4 address itself, or the first 64 bits of an IPv6
 * address, because one subscriber can choose the others. Text that is not an address, which only a proxy can send,
 * shares the key `unknown`.
 */
export function toRateLimitKey(address: string): string {
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return `${firstGroups(address).join(':')}::/64`;
    default:
      return 'unknown';
  }
}

/** Returns the first four of the eight groups, without leading zeros. */
function firstGroups(address: string): string[] {
  const [start = '', end] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const left = toGroups(start);
  const right = toGroups(end ?? '');
  const zeros = end === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
}

/** Splits into groups. A trailing IPv4 address counts as two groups; their value is irrelevant for the first four. */
function toGroups(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}
