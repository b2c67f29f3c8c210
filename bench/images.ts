import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import express from 'express';
import sharp from 'sharp';
import { imageFolderOf, openImages } from '../src/images/images.js';
import type { Images } from '../src/images/images.js';
import { inTurn } from '../src/in-turn.js';
import type { Handout } from '../src/images/link-store.js';
import type { ImageSource } from '../src/images/source.js';
import { imageLinks } from '../src/server/image-links.js';

export interface ImageBenchOptions {
  /** How many pictures, of how many megapixels. */
  readonly pictures: number;
  readonly megapixels: number;
  /** How long each server is asked in a round, and how often. */
  readonly seconds: number;
  readonly rounds: number;
}

/** Answers, images and requests, each beside the least that it could cost; gives a table in Markdown. */
export async function benchImages(options: ImageBenchOptions): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-bench-images-'));
  try {
    const sources = await makeSources(folder, options);
    const links: Handout[] = [];
    const images = openImages({
      stateDirectory: path.join(folder, 'state'),
      findSource: (digest) => sources.find(({ contentDigest }) => contentDigest === digest),
      onHandOut: (link) => links.push(link),
    });
    const rows = [...(await benchAnswers(images, sources)), ...(await benchMaking(images, links, sources, folder))];
    rows.push(...(await benchServing(images, links, folder, options)));
    await images.close();
    return ['| What | Measured |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Row = readonly [what: string, measured: string];

/** One photograph of many details, under many digests: a byte more at the end makes another file. */
async function makeSources(folder: string, { pictures, megapixels }: ImageBenchOptions): Promise<ImageSource[]> {
  const width = Math.round(Math.sqrt(megapixels * 1.5e6));
  const height = Math.round(width / 1.5);
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 40 };
  const coarse = sharp({ create: { width: width >> 3, height: height >> 3, channels: 3, background: '#888', noise } });
  const photo = await sharp(await coarse.png().toBuffer())
    .resize(width, height)
    .jpeg({ quality: 85 })
    .toBuffer();
  return Promise.all(
    Array.from({ length: pictures }, async (_none, index) => {
      const bytes = Buffer.concat([photo, Buffer.from([index & 255, index >> 8])]);
      const absolutePath = path.join(folder, `${index}.jpg`);
      await writeFile(absolutePath, bytes);
      const { size, mtimeMs } = await stat(absolutePath);
      const contentDigest = createHash('md5').update(bytes).digest('hex');
      return {
        absolutePath,
        relativePath: `${index}.jpg`,
        base: `${index}.jpg`,
        name: `${index}`,
        ext: '.jpg',
        contentDigest,
        size,
        mtimeMs,
      };
    }),
  );
}

async function benchAnswers(images: Images, sources: readonly ImageSource[]): Promise<Row[]> {
  const answerAll = () => Promise.all(sources.map(async (source) => images.answer('fluid', source, {})));
  return [
    [`fluid of ${sources.length} pictures, headers unread`, ms(await time(answerAll))],
    ['the same again', ms(await time(answerAll))],
    [
      'the same with other arguments',
      ms(await time(() => Promise.all(sources.map(async (one) => images.answer('resize', one, {}))))),
    ],
  ];
}

async function benchMaking(
  images: Images,
  links: readonly Handout[],
  sources: readonly ImageSource[],
  folder: string,
): Promise<Row[]> {
  const asked = new Map(links.map((link) => [`${link.contentDigest}/${link.recipeDigest}`, link]));
  const peak = watchMemory();
  const bareMs = await time(() => makeBare(images, [...asked.values()], sources, folder));
  const barePeak = peak();
  const ours = watchMemory();
  const oursMs = await time(() => images.build(asked.values()));
  return [
    [`${asked.size} images by a bare loop, ${parallel()} at a time`, `${ms(bareMs)}, up to ${barePeak} MB`],
    ['the same by build', `${ms(oursMs)}, up to ${ours()} MB`],
    ['throughput beside the bare loop', (bareMs / oursMs).toFixed(2)],
  ];
}

const parallel = (): number => Math.min(availableParallelism(), 3);

/** The same images from the same files, with nothing around sharp. */
async function makeBare(
  images: Images,
  links: readonly Handout[],
  sources: readonly ImageSource[],
  folder: string,
): Promise<void> {
  const turn = inTurn(parallel());
  const target = path.join(folder, 'bare');
  await mkdir(target);
  const files = new Map(sources.map(({ contentDigest, absolutePath }) => [contentDigest, absolutePath]));
  await Promise.all(
    links.map((link) =>
      turn(async () => {
        const recipe = images.links.findRecipe(link);
        if (!recipe) throw new Error('Expected a recipe of every link.');
        await sharp(files.get(link.contentDigest))
          .resize(recipe.width, recipe.height)
          .jpeg({ quality: recipe.quality ?? 50, progressive: true })
          .toFile(path.join(target, `${link.contentDigest}-${link.recipeDigest}.jpg`));
      }),
    ),
  );
}

async function benchServing(
  images: Images,
  links: readonly Handout[],
  folder: string,
  { seconds, rounds }: ImageBenchOptions,
): Promise<Row[]> {
  const [link] = links;
  if (!link) throw new Error('Expected a link.');
  const store = imageFolderOf(path.join(folder, 'state'));
  const bare = express().use(express.static(store));
  const ours = express()
    .use((_request, response, next) => {
      response.locals.context = { requestId: '' };
      next();
    })
    .use(
      imageLinks({ folder: store, findRoute: (url) => images.findRoute(url), publishOriginal: async () => undefined }),
    );
  const bareUrl = `/${images.files.pathOf({ ...link, format: 'jpg' })}`;
  const ourUrl = `/${link.contentDigest}/${link.recipeDigest}/picture.jpg`;
  const rates = { bare: 0, ours: 0 };
  for (let round = 0; round < rounds; round += 1) {
    rates.bare = Math.max(rates.bare, await rateOf(bare as RequestListener, bareUrl, seconds));
    rates.ours = Math.max(rates.ours, await rateOf(ours as RequestListener, ourUrl, seconds));
  }
  return [
    ['express.static, the same file', `${Math.round(rates.bare)}/s`],
    ['an image that is made, at its link', `${Math.round(rates.ours)}/s`],
    ['requests beside express.static', (rates.ours / rates.bare).toFixed(2)],
  ];
}

async function rateOf(listener: RequestListener, url: string, seconds: number): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { requests, non2xx } = await autocannon({
    url: `http://127.0.0.1:${port}${url}`,
    connections: 10,
    duration: seconds,
  });
  server.close();
  if (non2xx > 0) throw new Error(`Expected the file at ${url}.`);
  return requests.average;
}

/** Gives the most memory that the process held since, in megabytes. */
function watchMemory(): () => number {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 20);
  return () => {
    clearInterval(timer);
    look();
    return Math.round(most / 1e6);
  };
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

const ms = (milliseconds: number): string => `${milliseconds.toFixed(milliseconds < 100 ? 1 : 0)} ms`;
