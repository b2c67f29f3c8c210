/** Third-party code that the build includes: potrace alone would install a library of image formats. */
export { default as Jimp } from 'jimp';
export { Potrace } from 'potrace';
