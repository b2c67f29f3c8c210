import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { ImageSource } from '../src/source.js';

/** A temporary folder for the image files of one test file. */
export interface ImageFolder {
  readonly folder: string;
  put(relativePath: string, content: Sharp | Buffer | string): Promise<ImageSource>;
  remove(): Promise<void>;
}

export async function createImageFolder(): Promise<ImageFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-images-'));
  return {
    folder,
    async put(relativePath, content) {
      const absolutePath = path.join(folder, relativePath);
      const bytes = typeof content === 'string' ? Buffer.from(content) : await toBytes(content);
      await mkdir(path.dirname(absolutePath), { recursive: true });
      await writeFile(absolutePath, bytes);
      return toSource(absolutePath, relativePath, bytes);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const toBytes = (content: Sharp | Buffer) => (Buffer.isBuffer(content) ? content : content.toBuffer());

async function toSource(absolutePath: string, relativePath: string, bytes: Buffer): Promise<ImageSource> {
  const { size, mtimeMs } = await stat(absolutePath);
  const { base, name, ext } = path.parse(absolutePath);
  const contentDigest = createHash('md5').update(bytes).digest('hex');
  return { absolutePath, relativePath, base, name, ext, contentDigest, size, mtimeMs };
}

/** Draws a scene with a sky, a disc at the upper left and bars at the bottom. All corners differ. */
export function scene(width: number, height: number, { disc = '#ebb028' } = {}): Sharp {
  const bars = [0, 2, 4, 6, 8, 10].map((bar) => `<rect x="${bar * 8.33}" y="75" width="8.33" height="25"/>`).join('');
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
      viewBox="0 0 100 100" preserveAspectRatio="none">
    <linearGradient id="sky" x1="0" y1="0" x2="1" y2="1">
      <stop offset="0" stop-color="#285ac8"/><stop offset="1" stop-color="#beb450"/>
    </linearGradient>
    <rect width="100" height="100" fill="url(#sky)"/>
    <ellipse cx="30" cy="35" rx="16" ry="18" fill="${disc}"/><g fill="#1e6e32">${bars}</g>
  </svg>`;
  return sharp(Buffer.from(drawing)).flatten();
}
