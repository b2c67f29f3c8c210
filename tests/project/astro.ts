/** Follows docs/astro.md in a project whose packages are installed elsewhere. */
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readPage } from './add-a-service.js';
import { followSteps, type QueryResult, whileServed, writeProjectFile } from './run-project.js';

interface AstroOptions {
  /** The folder in which the page begins. */
  readonly folder: string;
  /** The installed packages. */
  readonly modules: string;
}

const NAME = 'my-site';

/** Writes the files of the page, runs its commands, and returns the results of its queries in their order. */
export async function followAstro({ folder, modules }: AstroOptions): Promise<readonly QueryResult[]> {
  const { steps, queries } = await readPage('docs/astro.md');
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: '' };
  await writeStarter(path.join(folder, 'astro-blog'));
  let results: readonly QueryResult[] = [];
  const serve = async (cwd: string) => {
    const ask = { cwd, env };
    results = await whileServed(path.join(modules, '.bin/trellis'), ask, (send) => Promise.all(queries.map(send)));
  };
  await followSteps(steps, { folder, name: NAME, modules, env, own: { 'npx trellis serve': serve } });
  return results;
}

/** Writes the content of a site like the blog starter of Astro, with its front matter. */
async function writeStarter(folder: string): Promise<void> {
  for (const [file, text] of Object.entries(POSTS)) {
    await writeProjectFile(path.join(folder, 'src/content/blog', file), text);
  }
  await mkdir(path.join(folder, 'src/assets'), { recursive: true });
  for (const picture of ['blog-placeholder-3.jpg', 'blog-placeholder-5.jpg']) {
    await cp('examples/site/images/garden-at-dawn.jpg', path.join(folder, 'src/assets', picture));
  }
}

const POSTS = {
  'first-post.md': `---
title: 'First post'
description: 'About this blog'
pubDate: 'Jul 08 2022'
heroImage: '../../assets/blog-placeholder-3.jpg'
---

A text.
`,
  'second-post.md': `---
title: 'Second post'
description: 'About this blog'
pubDate: 'Jul 15 2022'
updatedDate: 'August 1, 2022'
---

More text.
`,
  'using-mdx.mdx': `---
title: 'Using MDX'
description: 'About this blog'
pubDate: 'Jun 01 2024'
heroImage: '../../assets/blog-placeholder-5.jpg'
---

## Example

import HeaderLink from '../../components/HeaderLink.astro';

<HeaderLink href="#" onclick="alert('clicked!')">
\tEmbedded *component* in MDX
</HeaderLink>

## More Links

- **Note:** Client directives are still required to create interactive components.

![A garden](../../assets/blog-placeholder-5.jpg)
`,
};
