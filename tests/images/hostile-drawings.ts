const SIZE = 'width="600" height="400"';

const svg = (size: string, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`;

/** Each level refers twice to the level below: 2^17 copies of the leaf, fewer than the decoder's own limit. */
function nested(leaf: string): string {
  const levels = Array.from({ length: 17 }, (_none, level) => {
    const use = `<use href="#a${level}"/>`;
    return `<g id="a${level + 1}">${use}${use}</g>`;
  });
  return `<g id="a0">${leaf}</g>${levels.join('')}`;
}

const BLUR = '<filter id="f"><feGaussianBlur stdDeviation="40"/></filter>';

/** Drawings of 1 to 2 kB that the decoder draws for hours. */
export const NESTED_REFERENCES = svg(SIZE, BLUR + nested('<rect width="600" height="400" filter="url(#f)"/>'));

export const STACKED_FILTERS = svg(
  SIZE,
  `<filter id="f" x="-1" y="-1" width="3" height="3">${'<feMorphology radius="200"/>'.repeat(20)}</filter>` +
    `${'<g filter="url(#f)">'.repeat(50)}<rect width="600" height="400"/>${'</g>'.repeat(50)}`,
);

/** A drawing without a size, whose text is laid out 2^17 times to find it. */
export const NO_SIZE = svg('', nested('<text font-size="3">the quick brown fox jumps</text>'));
