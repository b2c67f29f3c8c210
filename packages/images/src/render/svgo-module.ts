/** Third-party code that the build includes. This form of svgo contains its parsers. */
export { optimize } from 'svgo/browser';
