import { isIP } from 'node:net';

/**
 * What stands for an address when its requests are counted: an IPv4 address itself, and of an IPv6 address the first 64
 * bits, as one subscriber has at least that many to choose from. Whatever is no address, which only a proxy can hand on,
 * is counted together.
 */
export function networkOf(address: string): string {
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return `${firstGroups(address).join(':')}::/64`;
    default:
      return 'unknown';
  }
}

/** The first four of the eight groups, without leading zeros. */
function firstGroups(address: string): string[] {
  const [start = '', end] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const left = toGroups(start);
  const right = toGroups(end ?? '');
  const zeros = end === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
}

/** An IPv4 address at the end takes the place of two groups, and lies behind the first four. */
function toGroups(text: string): string[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group.replace(/^0+(?=.)/, '')]));
}
