import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AddressLimit,
  createAddressLimit,
  createCountExchange,
  createCountHub,
} from '../../src/http/rate-limits.js';

/** Creates the limits of two processes, which exchange copies of their counts. */
function createLimits(perMinute: number): [AddressLimit, AddressLimit] {
  const hub = createCountHub((counts) => {
    for (const exchange of exchanges) exchange.receive(structuredClone(counts));
  });
  const exchanges = [1, 2].map(() => createCountExchange((counts) => hub(structuredClone(counts))));
  const toLimit = (place: number): AddressLimit =>
    createAddressLimit({ perMinute, what: 'requests', exchange: exchanges[place] });
  return [toLimit(0), toLimit(1)];
}

/** Counts a request. @returns the number of requests that remain. */
function count(limit: AddressLimit, address: string): number {
  let remaining = NaN;
  const response = {
    setHeader(name: string, value: string) {
      if (name === 'RateLimit-Remaining') remaining = Number(value);
    },
  };
  limit(address, response as unknown as ServerResponse);
  return remaining;
}

describe('createCountExchange', () => {
  test('adds the counts of an address in all processes', async () => {
    const [one, two] = createLimits(10_000);
    for (let sent = 0; sent < 5_000; sent += 1) count(one, '192.0.2.1');
    while (count(two, '192.0.2.1') > 5_000) await sleep(1);
    expect(count(two, '192.0.2.2')).toBe(9_999);
  });

  test('rejects an address in one process after requests that went to the other', async () => {
    const limit = 10_000;
    const [one, two] = createLimits(limit);
    for (let sent = 0; sent < limit; sent += 1) count(one, '192.0.2.1');
    let passed = 0;
    const sendUntilRejected = async (): Promise<void> => {
      for (; passed < limit; passed += 1) {
        count(two, '192.0.2.1');
        await sleep(1);
      }
    };
    await expect(sendUntilRejected()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(passed).toBeLessThan(limit / 2);
  });
});
