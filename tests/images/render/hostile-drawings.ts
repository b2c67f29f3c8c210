const SIZE = 'width="600" height="400"';

const svg = (size: string, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`;

/** Returns 17 levels that each refer twice to the level below: 2^17 copies, fewer than the decoder's own limit. */
function nested(leaf: string): string {
  const levels = Array.from({ length: 17 }, (_none, level) => {
    const use = `<use href="#a${level}"/>`;
    return `<g id="a${level + 1}">${use}${use}</g>`;
  });
  return `<g id="a0">${leaf}</g>${levels.join('')}`;
}

const BLUR = '<filter id="f"><feGaussianBlur stdDeviation="40"/></filter>';

/** Drawings of 1 to 2 kB that take the decoder hours. */
export const NESTED_REFERENCES = svg(SIZE, BLUR + nested('<rect width="600" height="400" filter="url(#f)"/>'));

export const STACKED_FILTERS = svg(
  SIZE,
  `<filter id="f" x="-1" y="-1" width="3" height="3">${'<feMorphology radius="200"/>'.repeat(20)}</filter>` +
    `${'<g filter="url(#f)">'.repeat(50)}<rect width="600" height="400"/>${'</g>'.repeat(50)}`,
);

/** A drawing without a size. To compute the size, the decoder lays out a text 2^17 times. */
export const NO_SIZE = svg('', nested('<text font-size="3">the quick brown fox jumps</text>'));
