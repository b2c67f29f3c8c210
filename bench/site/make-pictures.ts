import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ImageSource } from '@trellis/images/source';
import sharp from 'sharp';

/** Creates source images: one photograph with many digests, as an additional byte at the end changes the digest. */
export async function makePictures(folder: string, count: number, megapixels: number): Promise<ImageSource[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const photo = await makePhoto(megapixels);
  return Array.from({ length: count }, (_none, index) => {
    const bytes = Buffer.concat([photo, Buffer.from([index & 255, index >> 8])]);
    const base = `picture-${index}.jpg`;
    const absolutePath = path.join(folder, base);
    writeFileSync(absolutePath, bytes);
    const { size, mtimeMs } = statSync(absolutePath);
    const contentDigest = createHash('md5').update(bytes).digest('hex');
    return {
      absolutePath,
      relativePath: base,
      base,
      name: `picture-${index}`,
      ext: '.jpg',
      contentDigest,
      size,
      mtimeMs,
    };
  });
}

/** Draws an image with the ratio 3:2 and details of every size: fine noise over soft noise. */
async function makePhoto(megapixels: number): Promise<Buffer> {
  const width = Math.round(Math.sqrt(megapixels * 1.5e6));
  const height = Math.round(width / 1.5);
  const soft = await noise(width >> 4, height >> 4, 40);
  const fine = await noise(width >> 1, height >> 1, 20);
  const layer = await sharp(fine).resize(width, height).ensureAlpha(0.3).png({ compressionLevel: 0 }).toBuffer();
  const image = sharp(soft)
    .resize(width, height)
    .composite([{ input: layer }]);
  return image.jpeg({ quality: 85 }).toBuffer();
}

const noise = (width: number, height: number, sigma: number): Promise<Buffer> =>
  sharp({
    create: { width, height, channels: 3, background: '#888', noise: { type: 'gaussian', mean: 128, sigma } },
  })
    .png({ compressionLevel: 0 })
    .toBuffer();
