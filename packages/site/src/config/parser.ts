/** The parser of configurations. The build puts its code here, so that production does not install it. */
export { parse } from '@babel/parser';
