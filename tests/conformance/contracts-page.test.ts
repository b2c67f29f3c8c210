import { readFile } from 'node:fs/promises';
import { writeContractsPage } from '../../scripts/docs/contracts-page.js';

test('docs/contracts.md has the rows of the conformance tests', async () => {
  expect(await readFile('docs/contracts.md', 'utf8')).toBe(await writeContractsPage());
});
