import { toMediaType } from '../../../src/site/sources/media-types.js';

test.each([
  ['.md', 'text/markdown'],
  ['.MD', 'text/markdown'],
  ['.ts', 'video/mp2t'],
  ['.tsx', 'application/octet-stream'],
  ['.rs', 'application/rls-services+xml'],
  ['.js', 'application/javascript'],
  ['.sql', 'application/x-sql'],
  ['.gz', 'application/gzip'],
  ['.', 'application/octet-stream'],
  ['', 'application/octet-stream'],
  ['.constructor', 'application/octet-stream'],
])('the extension %j has the media type %s', (ext, mediaType) => {
  expect(toMediaType(ext)).toBe(mediaType);
});
