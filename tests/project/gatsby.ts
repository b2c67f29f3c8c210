/** Follows docs/gatsby.md in a project whose packages are installed elsewhere. */
import { cp, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readPage } from './add-a-service.js';
import { readFormRows } from './form-rows.js';
import { followSteps, type QueryResult, whileServed, writeProjectFile } from './run-project.js';

interface GatsbyOptions {
  /** The folder in which the page begins. */
  readonly folder: string;
  /** The installed packages. */
  readonly modules: string;
}

/** The forms in a row of a table, with the responses of the server. */
interface TriedRow {
  readonly gatsby: readonly { readonly form: string; readonly result: QueryResult }[];
  readonly trellis: readonly { readonly form: string; readonly result: QueryResult }[];
}

interface GatsbyResults {
  /** The results of the queries of the page, in their order. */
  readonly results: readonly QueryResult[];
  readonly rows: readonly TriedRow[];
}

const PAGE = 'docs/gatsby.md';

/** The tables of queries by their headings, with the query that contains a form. */
const TABLES: Readonly<Record<string, (form: string) => string>> = {
  Queries: (form) => `{ ${form} }`,
  'Fields of a record': (form) => `{ post(slug: { eq: "hello-world" }) { ${form} } }`,
  Images: (form) => `{ file(name: { eq: "salty_egg" }) { childImageProc { ${form} } } }`,
};

/** Writes the files of the page, runs its commands, and tries its queries and the forms of its tables. */
export async function followGatsby({ folder, modules }: GatsbyOptions): Promise<GatsbyResults> {
  const { steps, queries } = await readPage(PAGE);
  const page = await readFile(PAGE, 'utf8');
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: '' };
  const cli = path.join(modules, '.bin/trellis');
  await writeStarter(path.join(folder, 'gatsby-starter-blog'));
  let tried: GatsbyResults | undefined;
  const serve = async (cwd: string) => {
    tried = await whileServed(cli, { cwd, env }, async (ask) => ({
      results: await Promise.all(queries.map(ask)),
      rows: (
        await Promise.all(
          Object.entries(TABLES).map(([heading, wrap]) => tryTable(page, heading, (form) => ask(wrap(form)))),
        )
      ).flat(),
    }));
  };
  await followSteps(steps, { folder, name: 'my-site', modules, env, own: { 'npx trellis serve': serve } });
  if (tried === undefined) throw new Error(`${PAGE} does not start the server.`);
  return tried;
}

async function tryTable(
  page: string,
  heading: string,
  ask: (form: string) => Promise<QueryResult>,
): Promise<TriedRow[]> {
  const tryAll = (forms: readonly string[]) =>
    Promise.all(forms.map(async (form) => ({ form, result: await ask(form) })));
  return Promise.all(
    readFormRows(page, heading).map(async ({ other, trellis }) => ({
      gatsby: await tryAll(other),
      trellis: await tryAll(trellis),
    })),
  );
}

/** Writes the content of a site like gatsby-starter-blog. */
async function writeStarter(folder: string): Promise<void> {
  const blog = path.join(folder, 'content/blog');
  for (const [file, text] of Object.entries(POSTS)) await writeProjectFile(path.join(blog, file), text);
  await mkdir(path.join(folder, 'src/images'), { recursive: true });
  await cp('examples/site/images/garden-at-dawn.jpg', path.join(blog, 'hello-world/salty_egg.jpg'));
  await cp('examples/site/images/tomato.png', path.join(folder, 'src/images/profile-pic.png'));
}

const POSTS = {
  'hello-world/index.md': `---
title: Hello World
date: "2015-05-01T22:12:03.284Z"
description: "Hello World"
tags: [first, eggs]
---

This is my first post on my new fake blog! How exciting!

![A salty egg](./salty_egg.jpg)

\`\`\`js{1}
const egg = 'salty';
\`\`\`
`,
  'my-second-post/index.md': `---
title: My Second Post!
date: "2015-05-06T23:46:37.121Z"
tags: [eggs]
---

Wow! I love blogging so much already.

## A heading

Read it after [the first post](../hello-world).
`,
  'new-beginnings/index.md': `---
title: New Beginnings
date: "2015-05-28T22:40:32.169Z"
description: This is a custom description for SEO and Open Graph purposes.
---

Far far away, behind the word mountains.
`,
};
