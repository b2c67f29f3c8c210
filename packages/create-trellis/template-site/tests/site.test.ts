import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createSiteClient } from '@trellis/client/site-client';
import { startServer } from 'trellis/testing';
import { ArticlesDocument } from '../src/generated/queries/queries.js';

test('articles are found by their tags', async () => {
  const state = await mkdtemp(path.join(tmpdir(), 'state-'));
  const server = await startServer({ state });
  try {
    const { allArticle } = await createSiteClient(server.origin).query(ArticlesDocument, { tag: 'summer' });
    assert.deepEqual(allArticle.nodes, [{ slug: 'roses', title: 'Roses in June', words: 10 }]);
  } finally {
    await server.close();
    await rm(state, { recursive: true });
  }
});
