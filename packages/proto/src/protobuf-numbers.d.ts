export { default } from "protobufjs/minimal.js";
