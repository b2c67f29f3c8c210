import type { Fit } from '../../src/plan/arguments.js';
import { fitFrame, fixedFrames, fluidFrames, resizeFrame, rotateSize, type Frame } from '../../src/plan/sizes.js';

const photo = { width: 1600, height: 1200 };

test.each<[Fit, Frame, string, string]>([
  ['COVER', { width: 400 }, '400x300 fill', 'the height follows'],
  ['COVER', { height: 300 }, '400x300 fill', 'the width follows'],
  ['COVER', { width: 200, height: 10 }, '200x10 cover', 'the proportions differ'],
  ['COVER', { width: 401, height: 301 }, '401x301 fill', 'the proportions are equal to the pixel'],
  ['CONTAIN', { width: 200, height: 200 }, '200x200 contain', 'the proportions differ'],
  ['CONTAIN', { width: 400, height: 300 }, '400x300 fill', 'no padding is needed'],
  ['FILL', { width: 400 }, '400x1200 fill', 'the other side is that of the source'],
  ['FILL', { width: 400, height: 100 }, '400x100 fill', 'the image is stretched'],
  ['INSIDE', { width: 400, height: 100 }, '133x100 fill', 'the height is the limit'],
  ['INSIDE', { width: 400 }, '400x300 fill', 'only the width is given'],
  ['OUTSIDE', { width: 200, height: 10 }, '200x150 fill', 'the width is the minimum'],
  ['OUTSIDE', { height: 30 }, '40x30 fill', 'only the height is given'],
])('fitFrame: scales 1600x1200 by %s into %j to %s, as %s', (fit, frame, wanted) => {
  const { width, height, scaling } = fitFrame(photo, frame, fit);
  expect(`${width}x${height} ${scaling}`).toBe(wanted);
});

test('fitFrame: keeps at least one pixel when a line is scaled down', () => {
  expect(fitFrame({ width: 3000, height: 1 }, { width: 100 }, 'COVER')).toMatchObject({ width: 100, height: 1 });
});

test.each([
  [0, '100x75'],
  [90, '75x100'],
  [180, '100x75'],
  [270, '75x100'],
  [45, '124x124'],
  [30, '124x115'],
])('rotateSize: rotating 100x75 by %i degrees gives %s', (degrees, wanted) => {
  const { width, height } = rotateSize({ width: 100, height: 75 }, degrees);
  expect(`${width}x${height}`).toBe(wanted);
});

test.each([
  ['no arguments', photo, {}, [{ width: 400 }, { width: 600 }, { width: 800 }]],
  ['a height', photo, { height: 300 }, [{ height: 300 }, { height: 450 }, { height: 600 }]],
  ['a width that is too large for density 2', photo, { width: 1000 }, [{ width: 1000 }, { width: 1500 }]],
  ['the width of the source', photo, { width: 1600 }, [{ width: 1600 }]],
  ['a width beyond the source', photo, { width: 1601 }, [{ width: 1600 }]],
  [
    'both sides',
    photo,
    { width: 101, height: 50 },
    [
      { width: 101, height: 50 },
      { width: 152, height: 75 },
      { width: 202, height: 100 },
    ],
  ],
  [
    'a height beyond the source',
    { width: 100, height: 80 },
    { width: 50, height: 500 },
    [
      { width: 50, height: 500 },
      { width: 75, height: 750 },
      { width: 100, height: 1000 },
    ],
  ],
  ['an explicit null as width', photo, { width: null }, [{ width: 1600 }]],
])('fixedFrames: returns the frames for %s', (_reason, source, args, wanted) => {
  expect(fixedFrames(source, args)).toEqual(wanted);
});

test.each([
  ['no arguments', photo, {}, 'w200 w400 w800 w1200 w1600', 'w800', 'w800'],
  ['a width beyond the source', photo, { maxWidth: 3000 }, 'w750 w1500 w1600', 'w1600', 'w1600'],
  ['a small source', { width: 100, height: 80 }, {}, 'w100', 'w100', 'w100'],
  ['a source of odd size', { width: 401, height: 299 }, {}, 'w200 w400 w401', 'w401', 'w401'],
  ['a height', photo, { maxHeight: 400 }, 'h100 h200 h400 h600 h800 h1200', 'h400', 'h400'],
  ['a height beyond the source', photo, { maxHeight: 5000 }, 'h1200', 'h1200', 'h1200'],
  [
    'both sides',
    photo,
    { maxWidth: 200, maxHeight: 50 },
    'w50h13 w100h25 w200h50 w300h75 w400h100 w1600h400',
    'w200h50',
    'w200h50',
  ],
  [
    'INSIDE, limited to the size of the source',
    photo,
    { maxWidth: 3200, maxHeight: 1200, fit: 'INSIDE' as const },
    'w800h600 w1600h1200',
    'w1600h1200',
    'w1600h1200',
  ],
  [
    'INSIDE, whose images are narrower than their frames',
    photo,
    { maxWidth: 200, maxHeight: 50, fit: 'INSIDE' as const },
    'w50h13 w100h25 w200h50 w300h75 w400h100 w1600h400',
    'w400h100',
    'w200h50',
  ],
  [
    'breakpoints with a duplicate',
    photo,
    { maxWidth: 300, srcSetBreakpoints: [250, 100, 250] },
    'w100 w250 w300 w1600',
    'w300',
    'w300',
  ],
  ['breakpoints beyond the source', photo, { srcSetBreakpoints: [1600, 9999, null] }, 'w800 w1600', 'w800', 'w800'],
  [
    'an empty list of breakpoints',
    photo,
    { maxWidth: 400, srcSetBreakpoints: [] },
    'w100 w200 w400 w600 w800 w1600',
    'w400',
    'w400',
  ],
  ['a width of 1, whose fractions are rounded', photo, { maxWidth: 1 }, 'w1 w1 w1 w2 w2 w1600', 'w1', 'w1'],
])('fluidFrames: returns the frames for %s', (_reason, source, args, all, shown, present) => {
  const { frames, fallback, presented } = fluidFrames(source, args);
  const names = frames.map(({ width, height }) => `${width ? `w${width}` : ''}${height ? `h${height}` : ''}`);
  expect([names.join(' '), names[fallback], names[presented]]).toEqual([all, shown, present]);
});

test.each([
  [{}, { width: 400 }],
  [{ width: 33 }, { width: 33, height: undefined }],
  [{ height: 33 }, { width: undefined, height: 33 }],
])('resizeFrame: returns the frame for %j', (args, frame) => {
  expect(resizeFrame(args)).toEqual(frame);
});
