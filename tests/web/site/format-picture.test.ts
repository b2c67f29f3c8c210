import { formatPicture } from '../../../src/web/app/site/transform/format-picture.js';

test('formatPicture: lists the newest formats first, and escapes attributes', () => {
  const images = {
    avif: { src: '/a.avif', srcSet: '/a.avif 1x,\n/b.avif 2x' },
    webp: { src: '/a.webp', srcSet: null },
    image: { src: '/a"b&c.jpg', srcSet: '/a.jpg 1x', sizes: '(max-width: 4px) 100vw', width: 40, height: 30 },
  };
  expect(formatPicture(images)).toBe(`<picture>
  <source type="image/avif" srcset="/a.avif 1x, /b.avif 2x" sizes="(max-width: 4px) 100vw">
  <source type="image/webp" srcset="/a.webp" sizes="(max-width: 4px) 100vw">
  <img src="/a&quot;b&amp;c.jpg" srcset="/a.jpg 1x" sizes="(max-width: 4px) 100vw" width="40" height="30" alt="" loading="lazy" decoding="async">
</picture>`);
});

test('formatPicture: is empty while there is no image', () => {
  expect(formatPicture({ avif: { src: '/a.avif' }, image: null })).toBeUndefined();
});
