/** The validator of JSON Schema. The build puts its code here, in one file, which loads in half the time of 70. */
export { Ajv2020 } from 'ajv/dist/2020.js';
