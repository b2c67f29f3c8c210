import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startServer } from 'trellis/testing';
import { createGreetingsClient } from '../src/generated/greetings/client.js';

test('getGreeting greets by name', async () => {
  const state = await mkdtemp(path.join(tmpdir(), 'state-'));
  const server = await startServer({ state });
  try {
    const client = createGreetingsClient(`${server.origin}/greetings`);
    const { data } = await client.GET('/{name}', { params: { path: { name: 'Ada' } } });
    assert.deepEqual(data, { text: 'Hello, Ada!' });
    const { error } = await client.GET('/{name}', { params: { path: { name: 'x'.repeat(51) } } });
    assert.equal(error?.code, 'invalid_input');
  } finally {
    await server.close();
    await rm(state, { recursive: true });
  }
});
