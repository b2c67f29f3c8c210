/**
 * A URL on which no server listens. The port is below those of test servers, so that no server reuses it, and is not
 * among those that fetch blocks, such as 1 and 9.
 */
export const CLOSED_PORT = 'http://127.0.0.1:2';
