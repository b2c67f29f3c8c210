import { withServerKey } from '../src/config/server-key-command.js';

const KEY = 'k'.repeat(43);
const NAME = 'TRELLIS_SERVER_KEY_COMMAND';

const read = (serverKeyCommand: string | undefined, serverKey?: string, timeoutMs?: number) =>
  withServerKey({ serverKey, serverKeyCommand }, { timeoutMs });

test('withServerKey: returns the key that the command prints, without line breaks', async () => {
  const command = `printf '%s\\n' ${KEY}`;
  expect(await read(command)).toEqual({ serverKey: KEY, serverKeyCommand: command });
});

test.each([
  ['there is no command', undefined, undefined],
  ['the key is known', 'exit 1', KEY],
])('withServerKey: runs nothing if %s', async (_reason, command, key) => {
  expect(await read(command, key)).toEqual({ serverKey: key, serverKeyCommand: command });
});

test.each([
  ['the command ended with exit code 3', 'echo private; exit 3'],
  ['the command ended with exit code 127', 'no-such-program-here 2>/dev/null'],
  ['the command printed more than 1024 characters', 'while :; do echo private; done'],
  ['expected the command to print a key of 43 characters, the content of a file server.key', 'echo private'],
  ['expected the command to print a key of 43 characters, the content of a file server.key', 'true'],
])('withServerKey: fails with "%s" for: %s', async (message, command) => {
  await expect(read(command)).rejects.toMatchObject({ name: 'StartError', message: `${NAME}: ${message}` });
});

test('withServerKey: ends a command that takes too long, and its own processes', async () => {
  const before = Date.now();
  await expect(read('sleep 60 & sleep 60; true', undefined, 200)).rejects.toMatchObject({
    message: `${NAME}: the command took longer than 0.2 seconds`,
  });
  expect(Date.now() - before).toBeLessThan(20_000);
});

test('withServerKey: ends a command when the server is stopped', async () => {
  const stopped = new AbortController();
  const reading = withServerKey(
    { serverKey: undefined, serverKeyCommand: 'sleep 60 & sleep 60; true' },
    { signal: stopped.signal, timeoutMs: 3_600_000 },
  );
  stopped.abort();
  await expect(reading).rejects.toMatchObject({ message: `${NAME}: the command was ended by a signal` });
});
