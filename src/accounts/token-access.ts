import { BlockList, isIP } from 'node:net';
import { AppError } from '@trellis/core/errors';
import type { Permission, TokenAccess } from './callers.js';

/** The permissions of a write token without restrictions, and of the owner's session. */
export const ALL_PERMISSIONS: readonly Permission[] = ['list', 'read', 'write', 'manage'];

/** The limit for ranges; more networks than one script runs in. */
const MAX_ADDRESSES = 20;

/**
 * Checks address ranges, such as `10.0.0.0/8` or `2001:db8::1`.
 *
 * @throws AppError `invalid_input` for another text, and for more than 20.
 */
export function parseAddresses(texts: readonly string[]): readonly string[] {
  if (texts.length > MAX_ADDRESSES) {
    const message = `Expected at most ${MAX_ADDRESSES} address ranges; received ${texts.length}.`;
    throw new AppError('invalid_input', message, { field: 'addresses' });
  }
  for (const [index, text] of texts.entries()) {
    if (parseRange(text) !== undefined) continue;
    const message = `Expected an IP address or range such as 10.0.0.0/8; received ${JSON.stringify(text.slice(0, 64))}.`;
    throw new AppError('invalid_input', message, { field: `addresses.${index}` });
  }
  return [...new Set(texts)];
}

interface Range {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

function parseRange(text: string): Range | undefined {
  const [, address = '', length] = /^([\d.a-f:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  return prefix > bits ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** Reports whether a token may be used from an address. A token without ranges may be used from everywhere. */
export function isAddressAllowed({ addresses }: TokenAccess, address: string): boolean {
  if (addresses === undefined) return true;
  const version = isIP(address);
  if (version === 0) return false;
  const list = new BlockList();
  for (const text of addresses) {
    const range = parseRange(text);
    if (range !== undefined) list.addSubnet(range.address, range.prefix, range.family);
  }
  return list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** Formats access for its column; `null` for a token without restrictions. */
export function formatAccess(access: TokenAccess | undefined): string | null {
  const given = Object.entries(access ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
}

/** Parses stored access, which was validated before it was stored. */
export function parseAccess(text: string | null): TokenAccess | undefined {
  return text === null ? undefined : (JSON.parse(text) as TokenAccess);
}
