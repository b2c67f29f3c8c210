/**
 * What a person's script does with a token, in whichever runtime runs it: asks
 * who it speaks for, and prints the answer, or the error that the client makes of it.
 */
import { ApiError, createDashboardClient, decodeError } from '../../src/generated/dashboard/client.js';

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
