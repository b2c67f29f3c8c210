/** Follows the guides that move the site of a different tool, in projects whose packages are installed elsewhere. */
import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readPage } from './add-a-service.js';
import { followSteps, type QueryResult, whileServed, writeProjectFile } from './run-project.js';

interface MoveOptions {
  /** The folder in which the page begins. */
  readonly folder: string;
  /** The installed packages. */
  readonly modules: string;
}

const NAME = 'my-site';

type Guide = keyof typeof STARTERS;

/** Writes the files of a guide, runs its commands, and returns the results of its queries in their order. */
export async function followMove(guide: Guide, { folder, modules }: MoveOptions): Promise<readonly QueryResult[]> {
  const { steps, queries } = await readPage(guide);
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: '' };
  await writeStarter(guide, folder);
  let results: readonly QueryResult[] = [];
  const serve = async (cwd: string) => {
    const ask = { cwd, env };
    results = await whileServed(path.join(modules, '.bin/trellis'), ask, (send) => Promise.all(queries.map(send)));
  };
  await followSteps(steps, { folder, name: NAME, modules, env, own: { 'npx trellis serve': serve } });
  return results;
}

async function writeStarter(guide: Guide, folder: string): Promise<void> {
  const { texts, images } = STARTERS[guide];
  for (const [file, text] of Object.entries(texts)) await writeProjectFile(path.join(folder, file), text);
  for (const image of images) {
    await mkdir(path.dirname(path.join(folder, image)), { recursive: true });
    await cp('examples/site/images/garden-at-dawn.jpg', path.join(folder, image));
  }
}

/** A site like the blog starter of Astro, with its front matter. */
const ASTRO = {
  'astro-blog/src/content/blog/first-post.md': `---
title: 'First post'
description: 'About this blog'
pubDate: 'Jul 08 2022'
heroImage: '../../assets/blog-placeholder-3.jpg'
---

A text.
`,
  'astro-blog/src/content/blog/second-post.md': `---
title: 'Second post'
description: 'About this blog'
pubDate: 'Jul 15 2022'
updatedDate: 'August 1, 2022'
---

More text.
`,
  'astro-blog/src/content/blog/using-mdx.mdx': `---
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

/** A site like that of `hugo new theme`, with its front matter. */
const HUGO = {
  'hugo-site/content/_index.md': "+++\ntitle = 'Home'\ndate = 2023-01-01T08:00:00-07:00\n+++\n\nA text.\n",
  'hugo-site/content/posts/_index.md': "+++\ntitle = 'Posts'\ndate = 2023-01-01T08:30:00-07:00\n+++\n\nA text.\n",
  'hugo-site/content/posts/post-1.md': `+++
title = 'Post 1'
date = 2023-01-15T09:00:00-07:00
draft = false
tags = ['red']
+++

The beginning.

<!--more-->

The rest.
`,
  'hugo-site/content/posts/post-2.md':
    "+++\ntitle = 'Post 2'\ndate = 2023-02-15\ndraft = true\ntags = ['red','green']\n+++\n",
  'hugo-site/content/posts/post-3/index.md': `+++
title = 'Post 3'
date = 2023-03-15T11:00:00-07:00
draft = false
tags = ['red','green','blue']
+++

## A park

![Bryce Canyon National Park](bryce-canyon.jpg)
`,
};

const STARTERS = {
  'docs/astro.md': {
    texts: ASTRO,
    images: ['astro-blog/src/assets/blog-placeholder-3.jpg', 'astro-blog/src/assets/blog-placeholder-5.jpg'],
  },
  'docs/hugo.md': { texts: HUGO, images: ['hugo-site/content/posts/post-3/bryce-canyon.jpg'] },
};
