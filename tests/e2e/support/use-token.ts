/**
 * A script that reads the session with an API token and prints the result, or the error that the client throws. It runs
 * in Node and Bun.
 */
import { ApiError, createDashboardClient, decodeError } from '../../../src/generated/dashboard/client.js';

const [baseUrl = ''] = process.argv.slice(2);
// The token comes from TRELLIS_TOKEN.
const { data, error, response } = await createDashboardClient(baseUrl).GET('/api/auth/session');
const apiError = decodeError(response, error);
console.log(
  JSON.stringify(
    apiError instanceof ApiError
      ? { name: apiError.name, statusCode: apiError.statusCode, code: apiError.code }
      : { username: data?.username, isBun: 'Bun' in globalThis },
  ),
);
