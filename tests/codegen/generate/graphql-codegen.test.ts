/**
 * Compares `npx graphql-codegen` with `npm run generate` after edits of the contracts. Runs three of the edits by
 * default, and all of them with `EDITS=all`.
 */
import { digestTexts } from '@trellis/codegen/documents';
import { readGenerated } from '@trellis/codegen/generate/generate';
import { copyRepository, copySmallRepository, repository, type RepositoryCopy } from './repository-copy.js';

interface Edit {
  name: string;
  file: string;
  change: (text: string) => string;
  /** Whether the edit runs by default. */
  isDefault?: boolean;
}

const EDITS: readonly Edit[] = [
  {
    name: 'a field with an index and a description that needs escapes',
    file: 'schema/recipe.graphql',
    change: (text) =>
      text.replace(/^type Recipe .*\{$/m, '$&\n  "A `rating`, as in ${stars} \\\\ 5."\n  stars: Int @index'),
    isDefault: true,
  },
  {
    name: 'a new record type in a new document',
    file: 'schema/garden.graphql',
    change: () =>
      'type Plant implements Node @record {\n  name: String!\n  sown: Date @dateformat\n  bed: Bed\n}\nenum Bed { NORTH SOUTH }\n',
  },
  {
    name: 'a computed field and a query with arguments',
    file: 'schema/garden.graphql',
    change: (text) =>
      `${text}extend type Plant { height(unit: String = "cm"): Float @computed(needs: ["sown"]) }\nextend type Query { ripe(on: Date!): [Plant!]! }\n`,
  },
  {
    name: 'a document with a byte order mark and CRLF line ends',
    file: 'schema/recipe.graphql',
    change: (text) => `\uFEFF${text.replace('  serves: Int\n', '  serves: Float\n').replaceAll('\n', '\r\n')}`,
  },
  {
    name: 'a document without definitions',
    file: 'schema/garden.graphql',
    change: () => '# Only a comment.\n',
  },
  {
    name: 'a new operation',
    file: 'openapi/dashboard.yaml',
    change: (text) =>
      text.replace(
        /^ {2}\/notes\/changes:\n[^]*?\n(?= {2}\/)/m,
        (path) => path + path.replace('/changes', '/drafts').replace('followNotes', 'followDrafts'),
      ),
    isDefault: true,
  },
  {
    name: 'a description in the document that the services share',
    file: 'openapi/common.yaml',
    change: (text) => text.replace(/^( {6}description: )(?!\|).*$/m, '$1"It\'s `quoted` \\\\ and \\"escaped\\"."'),
  },
];

const INVALID_EDITS: readonly (Edit & { message: string })[] = [
  {
    name: 'an unknown type',
    file: 'schema/recipe.graphql',
    change: (text) => `type Herb {\n  title: Strng\n}\n${text}`,
    message: 'schema/recipe.graphql:2:10 Unknown type "Strng". Did you mean "String"?',
    isDefault: true,
  },
  {
    name: 'a syntax error',
    file: 'schema/recipe.graphql',
    change: (text) => `type Herb {\n${text}`,
    message: 'schema/recipe.graphql:',
  },
  {
    name: 'an operation id that is a list',
    file: 'openapi/secrets.yaml',
    change: (text) => text.replace('operationId: listNotes', 'operationId: [listNotes]'),
    message: 'Expected operationId to be text; received a list.',
  },
];

const chosen = <T extends Edit>(edits: readonly T[]): readonly T[] =>
  process.env.EDITS === 'all' ? edits : edits.filter(({ isDefault }) => isDefault === true);

/** Two copies of the repository with small services, one for each command. */
let ours: RepositoryCopy;
let theirs: RepositoryCopy;
beforeAll(async () => {
  [ours, theirs] = await Promise.all([copySmallRepository(), copySmallRepository()]);
  expect(await runBoth()).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
});
afterAll(() => Promise.all([ours.close(), theirs.close()]));

const runBoth = () => Promise.all([ours.generate(), theirs.graphqlCodegen()]);
/** Returns path → digest, so that failures are readable. */
const digests = async (read: Promise<Map<string, string>>) =>
  Object.fromEntries([...(await read)].map(([file, text]) => [file, digestTexts([[file, text]])]));
const editBoth = ({ file, change }: Edit) => Promise.all([ours.edit(file, change), theirs.edit(file, change)]);

// The command `npm run generate:check` compares them with those of `npm run generate`.
test('graphql-codegen generates the committed files from scratch', async () => {
  const whole = await copyRepository();
  expect(await whole.graphqlCodegen()).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await digests(whole.generated())).toEqual(await digests(readGenerated(repository)));
  await whole.close();
});

test.each(chosen(EDITS))('npm run generate and graphql-codegen generate the same files after $name', async (edit) => {
  const before = await digests(ours.generated());
  await editBoth(edit);
  expect(await runBoth()).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
  const after = await digests(ours.generated());
  expect(after).not.toEqual(before);
  expect(await digests(theirs.generated())).toEqual(after);
});

test.each(chosen(INVALID_EDITS))(
  'npm run generate and graphql-codegen report $name with its line and change no file',
  async ({ message, ...edit }) => {
    const before = await digests(ours.generated());
    await editBoth(edit);
    const [own, other] = await runBoth();
    expect([own.exitCode, other.exitCode]).toEqual([1, 1]);
    expect(own.stderr).toContain(message);
    expect(other.stderr).toContain(message);
    expect(other.stderr).toMatch(new RegExp(`${edit.file}:\\d+:\\d+ `, 'u'));
    expect(await digests(ours.generated())).toEqual(before);
    expect(await digests(theirs.generated())).toEqual(before);
  },
);
