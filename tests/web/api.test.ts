import { ApiError, createDashboardClient } from '../../src/generated/dashboard/client.js';
import { repeatLostChange, toProblem } from '../../src/web/app/api.js';
import { eventually } from '../eventually.js';

describe('toProblem', () => {
  test('names a proxy for an error response without the code of an error', () => {
    expect(toProblem(new ApiError('Payload Too Large', { statusCode: 413 }))).toEqual({
      message: 'A proxy in front of the server responded with status 413.',
      canRetry: false,
      isTemporary: false,
    });
    expect(toProblem(new ApiError('Bad Gateway', { statusCode: 502 }))).toEqual({
      message: 'A proxy in front of the server responded with status 502.',
      canRetry: true,
      isTemporary: true,
    });
  });

  test.each([
    [503, true, 'an outage of the database'],
    [429, true, 'a rate limit'],
    [500, false, 'an internal error'],
    [409, false, 'a change without a result'],
    [401, false, 'an ended session'],
  ])('lets pages read again automatically after status %i: %s (%s)', (statusCode, isTemporary) => {
    expect(toProblem(new ApiError('Failed.', { statusCode })).isTemporary).toBe(isTemporary);
  });

  test('keeps the message of the server', () => {
    const problem = { code: 'not_found', field: 'id' };
    expect(toProblem(new ApiError('Unknown feed.', { statusCode: 404, ...problem }))).toMatchObject({
      message: 'Unknown feed.',
      ...problem,
      canRetry: false,
    });
  });

  test('says in words that a text does not match a pattern', () => {
    const message = 'Expected name to match pattern "^[a-z]+$"; received 3 characters.';
    const { message: shown } = toProblem(new ApiError(message, { statusCode: 400, code: 'invalid_input' }));
    expect(shown).toBe('“name” contains a character that isn’t allowed, or one in the wrong place.');
  });

  test('asks to check for the change after a request without a response in time', () => {
    const { message, canRetry } = toProblem(new DOMException('No complete response within 30000 ms', 'TimeoutError'));
    expect(message).toBe('The server did not respond in time. Before you repeat a change, check whether it was made.');
    expect(canRetry).toBe(true);
  });

  test.each([
    ['Failed to fetch', 'Chromium'],
    ['NetworkError when attempting to fetch resource.', 'Firefox'],
    ['Content-Length header of network response exceeds response Body.', 'Firefox, for a response that ends early'],
    ['Load failed', 'Safari'],
  ])('reports that the server could not be reached for “%s” (%s)', (message) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator') ?? { value: undefined };
    Object.defineProperty(globalThis, 'navigator', { value: { onLine: true }, configurable: true });
    const { message: shown } = toProblem(new TypeError(message));
    Object.defineProperty(globalThis, 'navigator', { ...before, configurable: true });
    expect(shown).toBe('The server could not be reached.');
  });

  test('reports a repeated change without a result in words for users', () => {
    const message =
      'The same request is still in progress. Repeat it with the same Idempotency-Key to get the response.';
    const { message: shown, canRetry } = toProblem(new ApiError(message, { statusCode: 409, code: 'in_progress' }));
    expect(shown).toContain('Before you repeat the change, check whether it was made.');
    expect(canRetry).toBe(true);
  });
});

describe('repeatLostChange', () => {
  test('keeps the key of a change that is open while a different one gets its response', async () => {
    const keys: (string | null)[] = [];
    let lose: (error: Error) => void = () => undefined;
    const client = createDashboardClient('http://localhost', {
      retry: { maxRetries: 0 },
      fetch: (request) => {
        if (new URL(request.url).pathname !== '/api/feeds') {
          return Promise.resolve(
            new Response(null, { status: 204, headers: { 'X-Trellis-Revision': client.revision } }),
          );
        }
        keys.push(request.headers.get('Idempotency-Key'));
        return new Promise((_, reject) => (lose = reject));
      },
    });
    client.use(repeatLostChange);
    /** Sends a change, runs `meanwhile`, and loses the response. */
    const create = async (meanwhile?: () => Promise<unknown>): Promise<void> => {
      const count = keys.length;
      const sent = client.POST('/api/feeds', { params: {}, body: { kind: 'atom', label: 'mine' } });
      await eventually(() => expect(keys).toHaveLength(count + 1));
      await meanwhile?.();
      lose(new TypeError('Failed to fetch'));
      await expect(sent).rejects.toThrow('Failed to fetch');
    };
    const other = () => client.POST('/api/auth/logout-others');
    await create(other);
    await create();
    await other();
    await create();
    expect(keys[1]).toBe(keys[0]);
    // After a response, an equal change is new.
    expect(keys[2]).not.toBe(keys[1]);
  });
});
