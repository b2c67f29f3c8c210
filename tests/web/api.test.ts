import { ApiError } from '../../src/generated/dashboard/client.js';
import { toProblem } from '../../src/web/app/api.js';

describe('toProblem', () => {
  test('names a proxy for an error response without the code of an error', () => {
    expect(toProblem(new ApiError('Payload Too Large', { statusCode: 413 }))).toEqual({
      message: 'A proxy in front of the server responded with status 413.',
      canRetry: false,
    });
    expect(toProblem(new ApiError('Bad Gateway', { statusCode: 502 }))).toEqual({
      message: 'A proxy in front of the server responded with status 502.',
      canRetry: true,
    });
  });

  test('keeps the message of the server', () => {
    const problem = { code: 'not_found', field: 'id' };
    expect(toProblem(new ApiError('Unknown feed.', { statusCode: 404, ...problem }))).toMatchObject({
      message: 'Unknown feed.',
      ...problem,
      canRetry: false,
    });
  });

  test('asks to check for the change after a request without a response in time', () => {
    const { message, canRetry } = toProblem(new DOMException('No complete response within 30000 ms', 'TimeoutError'));
    expect(message).toBe('The server did not respond in time. Before you repeat a change, check whether it was made.');
    expect(canRetry).toBe(true);
  });
});
